import './ui.css';
import './markdown.css';

export { Button, IconButton } from './button.tsx';
export { CopyButton, type CopyTexts } from './copy-button.tsx';
export { Mark } from './mark.tsx';
export { Markdown, type MarkdownTexts } from './markdown.tsx';
export { Notice } from './notice.tsx';
export { Tooltip } from './tooltip.tsx';
