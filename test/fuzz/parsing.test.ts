import { cursors } from '../../checks/fuzz/cursors.ts';
import { parameters } from '../../checks/fuzz/parameters.ts';
import { holds } from './short-run.ts';

holds(parameters, 600);
holds(cursors, 400);
