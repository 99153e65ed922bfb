import { http } from '../../checks/fuzz/http.ts';
import { imports } from '../../checks/fuzz/import.ts';
import { holds } from './short-run.ts';

holds(http, 120);
holds(imports, 100);
