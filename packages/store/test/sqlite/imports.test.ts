import { importSuite } from '../suite/suite.ts';
import { openCopy } from './copies.ts';

importSuite('imports into the embedded database', openCopy);
