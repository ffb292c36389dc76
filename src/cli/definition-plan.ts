/** Prints the plan of definitions that would be created, changed and deleted. */
import type { DefPlan, PlannedDefinition, PlannedField } from '../engine/declare/def-plan.ts';
import { printJson, printLine, styled, type Style } from './print.ts';

export const changes = ({ action }: PlannedDefinition): boolean => action !== 'unchanged';

export function printPlan(plan: DefPlan, { json }: { readonly json?: boolean }): void {
  if (json) return printJson(plan);
  for (const planned of plan.definitions.filter(changes)) printPlanned(planned);
  const counts = (['create', 'change', 'delete', 'unchanged'] as const)
    .map((action) => `${plan.definitions.filter((each) => each.action === action).length} ${words[action]}`);
  printLine(`Plan: ${counts.join(', ')}`);
}

const words = { create: 'to create', change: 'to change', delete: 'to delete', unchanged: 'unchanged' } as const;
const signs: Readonly<Record<string, readonly [string, Style]>> = {
  create: ['+', 'green'], change: ['~', 'yellow'], delete: ['-', 'red'],
};

function printPlanned({ name, action, list, fields }: PlannedDefinition): void {
  const [sign, style] = signs[action]!;
  printLine(`${styled(style, sign)} ${name}${list === 'overrides' ? ' (override)' : ''}`);
  for (const field of fields) printLine(`    ${fieldText(field)}`);
}

function fieldText({ field, before, after }: PlannedField): string {
  if (before === undefined) return `${field}: ${JSON.stringify(after)}`;
  return `${field}: ${JSON.stringify(before)} → ${after === undefined ? 'not set' : JSON.stringify(after)}`;
}
