/** The table of behaviours: what the client of every language does. */
import { failures } from './failures.ts';
import { refusals } from './refusals.ts';
import type { Scenario } from './scenario.ts';
import { walks } from './walks.ts';

export const scenarios: readonly Scenario[] = [...walks, ...refusals, ...failures];
