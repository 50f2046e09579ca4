import './chat.css';
import './sidebar.css';
import './empty-state.css';
import './composer.css';
import './messages.css';
import './chat-settings.css';

export { ChatScreen } from './chat-screen.tsx';
