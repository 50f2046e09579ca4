import './chat.css';
import './messages.css';

export { ChatScreen } from './chat-screen.tsx';
