import { tellsItsMethods } from '../support/methods.ts';

tellsItsMethods('brands');
