import './app.css';

export { App } from './app.tsx';
