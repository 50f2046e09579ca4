import './ui.css';
import './controls.css';
import './markdown.css';

export { Button, IconButton } from './button.tsx';
export { Choice } from './choice.tsx';
export { CodeBlock } from './code-block.tsx';
export { CopyButton, type CopyTexts } from './copy-button.tsx';
export { Mark } from './mark.tsx';
export { Markdown, type MarkdownTexts } from './markdown.tsx';
export { MenuButton, type MenuItem } from './menu-button.tsx';
export { Notice } from './notice.tsx';
export { type Palette } from './palette.ts';
export { PixelCanvas, type CanvasPoint, type CanvasSize, type KeySteps, type Picture } from './pixel-canvas.tsx';
export { makeTextures, type Textures } from './textures.ts';
export { Tooltip } from './tooltip.tsx';
export { useMediaQuery } from './use-media-query.ts';
