export { Router, type RouterDependencies } from './router.ts';
