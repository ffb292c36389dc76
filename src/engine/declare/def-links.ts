/**
 * The links of a definition: results of the definitions that it follows that become parts of the input of its runs. In its
 * parameters, a reference is in their place; a tick links the runs, and whoever continues a run inserts the results.
 */
import type { DefLink, Spec } from '../../model/definition.ts';
import { isAfterSuccess } from '../../model/following.ts';
import type { Json } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { namesOfDefs, type DefFollowing, type FollowingFields } from './def-following.ts';
import { replaceParts, unsureResult } from './result-part.ts';
import { refuseUnsurePart, withResults, type ResultReference } from './result-reference.ts';

/** What the result parts of a definition refer to: the result of its run, of whichever tick. */
export class DefinedResult {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Returns options with references in place of result parts. The definitions that they name are in `after`. */
export function withReferences<Options extends DefFollowing & { readonly params?: unknown }>(options: Options): Options {
  const { after = [], on, afterFailure } = options;
  const rule = { ...(on === undefined ? {} : { on }), ...(afterFailure === undefined ? {} : { afterFailure }) };
  const names: string[] = [];
  const params = replaceParts(options.params, ({ run, from, isSure }): ResultReference => {
    if (!(run instanceof DefinedResult)) throw resultOfFlow();
    if (isSure && !isAfterSuccess(rule)) throw unsureResult();
    names.push(run.name);
    return { $result: run.name, ...(from.length === 0 ? {} : { path: from }) };
  });
  return names.length === 0 ? options : { ...options, params, after: [...new Set([...namesOfDefs(after), ...names])] };
}

/** Returns the links of parameters. Those of a definition that follows none have no links: an input may have `$result`. */
export function linksOf(params: unknown, rule: FollowingFields): readonly DefLink[] {
  const { after = [] } = rule;
  if (after.length === 0) return [];
  const links: DefLink[] = [];
  withResults(params, ({ $result, path = [] }, to) => {
    if (!after.includes($result)) throw notFollowed($result);
    refuseUnsurePart(isAfterSuccess(rule), path);
    links.push({ def: $result, from: path, to });
  });
  return links;
}

/** Refuses a change that lets a definition follow none although its parameters have results. */
export function refuseStrandedLinks(before: Pick<Spec, 'links'>, after: Pick<Spec, 'params' | 'after'>, hasNewParams: boolean): void {
  const [link] = before.links ?? [];
  if (link === undefined || hasNewParams || (after.after ?? []).length > 0) return;
  throw notFollowed(link.def);
}

/** Returns a spec whose links and references name a definition by its new name. */
export function renamedLinks<S extends Partial<Spec>>(spec: S, name: string, renamed: string): S {
  if (spec.links === undefined) return spec;
  const newName = (one: string): string => (one === name ? renamed : one);
  return {
    ...spec,
    params: withResults(spec.params, (reference) => ({ ...reference, $result: newName(reference.$result) })) as Json,
    links: spec.links.map((link) => ({ ...link, def: newName(link.def) })),
  };
}

const notFollowed = (name: string): Refusal => {
  const shown = JSON.stringify(name);
  return new Refusal(
    'malformed.flow', `the parameters have the result of ${shown}, which is not followed: add it to after, or change the parameters`,
    { name },
  );
};

const resultOfFlow = (): Refusal => new Refusal(
  'malformed.flow', 'the result of a run of a flow cannot be in the parameters of a definition: use the result of a definition',
);
