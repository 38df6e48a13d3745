export { lockContract, type ContractSubject, type TestRunner } from './contract.js';
