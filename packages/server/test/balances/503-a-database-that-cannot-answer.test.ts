import { answersWhileLocked } from '../../../testkit/listing-rules/faults.ts';

answersWhileLocked('balances', '?customer_id=alice&type=CHECKING');
