import { http } from '../../fuzz/http.ts';
import { holds } from './short-run.ts';

holds(http, 120);
