import './monitor.css';
import './tiles.css';
import './panel.css';

export { MonitorPage } from './monitor-page.tsx';
export { MonitorPanel, PanelToggle } from './monitor-panel.tsx';
