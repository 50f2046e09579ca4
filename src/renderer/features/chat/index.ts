import './chat.css';
import './sidebar.css';
import './empty-state.css';
import './composer.css';
import './messages.css';
import './chat-settings.css';

export { ChatScreen } from './chat-screen.tsx';
export { EnginePill } from './engine-pill.tsx';
export { Sidebar, type SearchRequest } from './sidebar.tsx';
export { UndoToasts } from './undo-toasts.tsx';
