import { survivesCrash } from '../support/faults.ts';

survivesCrash('brands', '');
