import './server.css';
import './request-log.css';

export { ServerPage } from './server-page.tsx';
