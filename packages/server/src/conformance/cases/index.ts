import type { Case } from '../case.ts';
import { samples } from './samples.ts';

/** All cases, in the order of the report. */
export const allCases: readonly Case[] = [...samples];
