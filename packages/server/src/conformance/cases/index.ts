import type { Case } from '../case.ts';
import { access } from './access.ts';
import { answers } from './answers.ts';
import { burst } from './burst.ts';
import { http } from './http.ts';
import { pages } from './pages.ts';
import { parameters } from './parameters.ts';
import { records } from './records.ts';

/** All cases, in the order of the report. The last ones look at the answers of all others. */
export const allCases: readonly Case[] = [records, pages, parameters, access, http, burst, answers].flat();
