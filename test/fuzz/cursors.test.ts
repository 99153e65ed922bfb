import { cursors } from '../../fuzz/cursors.ts';
import { holds } from './short-run.ts';

holds(cursors, 400);
