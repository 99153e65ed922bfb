import { http } from '../../fuzz/http.ts';
import { imports } from '../../fuzz/import.ts';
import { holds } from './short-run.ts';

holds(http, 120);
holds(imports, 100);
