import { survivesCrash } from '../../../testkit/listing-rules/faults.ts';

survivesCrash('brands', '');
