import { imports } from '../../fuzz/import.ts';
import { holds } from './short-run.ts';

holds(imports, 100);
