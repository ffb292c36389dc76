// A module for NestJS: the engine starts and ends with the application, and methods of providers handle jobs.
import { Inject, Module, type DynamicModule, type OnApplicationBootstrap, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Engine, type EngineOptions, type JobType } from 'stint';

interface Handler {
  readonly provider: Type<Record<string, (context: object) => unknown>>;
  readonly method: string;
}

/** By the name of a job type. */
const handlers = new Map<string, Handler>();
let modules: ModuleRef;

/** Calls the method that is marked with `@Handles` for this job type, on the provider that Nest has made. */
export function handle(name: string, context: object): unknown {
  const { provider, method } = handlers.get(name)!;
  return modules.get(provider, { strict: false })[method]!(context);
}

/** Marks a method of a provider as the handler of a job type. */
export function Handles({ name }: Pick<JobType, 'name'>): MethodDecorator {
  return (target, method) => {
    handlers.set(name, { provider: target.constructor as Handler['provider'], method: String(method) });
  };
}

@Module({})
export class StintModule implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #engine: Engine;

  constructor(@Inject(Engine) engine: Engine, @Inject(ModuleRef) moduleRef: ModuleRef) {
    this.#engine = engine;
    modules = moduleRef;
  }

  static forRoot(options: EngineOptions): DynamicModule {
    const engine = { provide: Engine, useFactory: () => new Engine(options) };
    return { module: StintModule, global: true, providers: [engine], exports: [Engine] };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.#engine.resume();
  }

  /** Lets running handlers end. */
  async onApplicationShutdown(): Promise<void> {
    await this.#engine.close();
  }
}
