import { answersWhileLocked } from '../support/faults.ts';

answersWhileLocked('balances', '?customer_id=alice&type=CHECKING');
