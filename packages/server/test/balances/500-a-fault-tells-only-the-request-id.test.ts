import { survivesCrash } from '../../../testkit/listing-rules/faults.ts';

survivesCrash('balances', '?customer_id=alice&type=CHECKING');
