// NestJS: a provider with a handler, a controller that creates runs and reads them, and the dashboard below /jobs.
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Inject, Injectable, Module, Param, Post, type BeforeApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Engine, jobType, runState, typed } from 'stint';
import { mountHttp } from 'stint/server';
import { handle, Handles, StintModule } from './stint.module.js';

const welcome = jobType('welcome', {
  input: typed<{ email: string }>(),
  run: (context) => handle('welcome', context),
});

@Injectable()
class Mail {
  welcome(email: string): { welcomed: string } {
    return { welcomed: email };
  }
}

@Injectable()
class Welcomes {
  constructor(@Inject(Mail) readonly mail: Mail) {}

  @Handles(welcome)
  run({ input }: { input: { email: string } }): { welcomed: string } {
    return this.mail.welcome(input.email);
  }
}

@Injectable()
class Dashboard implements BeforeApplicationShutdown {
  readonly jobs: ReturnType<typeof mountHttp>;

  constructor(@Inject(Engine) engine: Engine) {
    this.jobs = mountHttp({
      engine,
      path: '/jobs',
      access: { authenticate: ({ headers }) => (headers.get('cookie') === 'user=ada' ? { name: 'ada', role: 'operator' } : null) },
    });
  }

  /** Nest waits for open responses when it stops: the streams of an open dashboard end before that. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.jobs.close();
  }
}

@Controller()
class Users {
  constructor(@Inject(Engine) readonly engine: Engine) {}

  @Post('users')
  @HttpCode(202)
  async create(@Body() { email }: { email: string }): Promise<{ run: number }> {
    const { id } = await this.engine.createJobRun(welcome, { input: { email } });
    return { run: id };
  }

  @Get('runs/:id')
  async read(@Param('id') id: string): Promise<object> {
    return { state: runState(await this.engine.run(Number(id)).get()) };
  }
}

@Module({
  imports: [StintModule.forRoot({ store: process.env['DATABASE_URL'] ?? 'sqlite:jobs.db', types: [welcome] })],
  controllers: [Users],
  providers: [Mail, Welcomes, Dashboard],
})
class App {}

const app = await NestFactory.create<NestExpressApplication>(App, { logger: ['error', 'warn'], bodyParser: false });
app.enableShutdownHooks();
const { jobs } = app.get(Dashboard);
// Before the body parser, which would consume the bodies of requests to the dashboard.
app.use((request: Request, response: Response, next: NextFunction) => {
  if (!jobs.handle(request, response)) next();
});
app.useBodyParser('json');
const port = Number(process.env['PORT'] ?? 3000);
await app.listen(port, '127.0.0.1');
console.log(`http://127.0.0.1:${port}`);
