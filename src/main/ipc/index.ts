export { DesktopTransport } from './desktop-transport.ts';
export { Router, type RouterDependencies } from './router.ts';
