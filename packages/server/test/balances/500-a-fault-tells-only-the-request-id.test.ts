import { survivesCrash } from '../support/faults.ts';

survivesCrash('balances', '?customer_id=alice&type=CHECKING');
