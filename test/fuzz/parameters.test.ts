import { parameters } from '../../fuzz/parameters.ts';
import { holds } from './short-run.ts';

holds(parameters, 600);
