/* eslint-disable @typescript-eslint/unified-signatures -- Electron has one overload per event, and each is checked against its own */
import type {
  AboutPanelOptionsOptions,
  BrowserWindowConstructorOptions,
  ContextMenuParams,
  CustomScheme,
  MenuItemConstructorOptions,
  MessageBoxOptions,
  OpenDialogOptions,
  Rectangle,
} from 'electron';

// The part of Electron that Dormouse uses. `main.ts` hands the real modules to `startDesktop`, tests hand a fake:
// the compiler checks both against these faces, so neither can drift.

export interface Preventable {
  preventDefault(): void;
}

export interface SessionFace {
  setPermissionRequestHandler(
    handler: ((contents: unknown, permission: string, callback: (granted: boolean) => void) => void) | null,
  ): void;
  setPermissionCheckHandler(handler: (() => boolean) | null): void;
  setDevicePermissionHandler(handler: (() => boolean) | null): void;
  setDisplayMediaRequestHandler(
    handler: ((request: unknown, callback: (streams: object) => void) => void) | null,
  ): void;
  setSpellCheckerDictionaryDownloadURL(url: string): void;
  on(event: 'will-download', listener: (event: Preventable) => void): unknown;
}

export interface ContentsFace {
  readonly session: SessionFace;
  zoomLevel: number;
  on(event: 'will-navigate', listener: (event: Preventable, url: string) => void): unknown;
  on(event: 'will-redirect', listener: (event: Preventable, url: string) => void): unknown;
  on(event: 'will-attach-webview', listener: (event: Preventable) => void): unknown;
  on(event: 'render-process-gone', listener: (event: unknown, details: { readonly reason: string }) => void): unknown;
  on(event: 'did-finish-load', listener: () => void): unknown;
  on(event: 'context-menu', listener: (event: unknown, params: ContextMenuParams) => void): unknown;
  setWindowOpenHandler(handler: (details: { readonly url: string }) => { readonly action: 'deny' }): void;
  send(channel: string, ...values: unknown[]): void;
  isDestroyed(): boolean;
  replaceMisspelling(text: string): void;
}

export interface WindowFace {
  readonly webContents: ContentsFace;
  on(event: 'close', listener: (event: Preventable) => void): unknown;
  on(event: 'closed', listener: () => void): unknown;
  on(event: 'show', listener: () => void): unknown;
  on(event: 'hide', listener: () => void): unknown;
  on(event: 'minimize', listener: () => void): unknown;
  on(event: 'restore', listener: () => void): unknown;
  once(event: 'ready-to-show', listener: () => void): unknown;
  loadURL(url: string): Promise<void>;
  show(): void;
  hide(): void;
  focus(): void;
  minimize(): void;
  restore(): void;
  maximize(): void;
  isVisible(): boolean;
  isMinimized(): boolean;
  isMaximized(): boolean;
  isDestroyed(): boolean;
  getNormalBounds(): Rectangle;
  destroy(): void;
}

export interface TrayFace {
  setImage(image: string): void;
  setToolTip(text: string): void;
  setContextMenu(menu: MenuFace | null): void;
  on(event: 'click', listener: () => void): unknown;
  destroy(): void;
}

export interface MenuFace {
  popup(): void;
}

export interface NotificationFace {
  on(event: 'click', listener: () => void): unknown;
  show(): void;
}

export interface AppFace {
  readonly isPackaged: boolean;
  readonly commandLine: { appendSwitch(name: string, value?: string): void };
  setPath(name: 'userData', path: string): void;
  setName(name: string): void;
  setAppUserModelId(id: string): void;
  requestSingleInstanceLock(data?: Record<string, unknown>): boolean;
  enableSandbox(): void;
  disableHardwareAcceleration(): void;
  whenReady(): Promise<void>;
  quit(): void;
  exit(code?: number): void;
  setAboutPanelOptions(options: AboutPanelOptionsOptions): void;
  showAboutPanel(): void;
  setLoginItemSettings(settings: { readonly openAtLogin?: boolean; readonly args?: string[] }): void;
  on(
    event: 'second-instance',
    listener: (event: unknown, argv: string[], folder: string, data: unknown) => void,
  ): unknown;
  on(event: 'open-file', listener: (event: Preventable, path: string) => void): unknown;
  on(event: 'activate', listener: () => void): unknown;
  on(event: 'before-quit', listener: (event: Preventable) => void): unknown;
  on(event: 'will-quit', listener: (event: Preventable) => void): unknown;
  on(event: 'window-all-closed', listener: () => void): unknown;
  on(event: 'web-contents-created', listener: (event: unknown, contents: ContentsFace) => void): unknown;
}

/** A frame of a page, as IPC tells who asks. */
export interface FrameFace {
  readonly url: string;
  /** null for the main frame. */
  readonly parent: unknown;
}

export interface IpcMainFace {
  handle(
    channel: string,
    listener: (event: { readonly senderFrame: FrameFace | null }, ...values: unknown[]) => Promise<unknown>,
  ): void;
  removeHandler(channel: string): void;
}

export interface ElectronModules {
  readonly app: AppFace;
  readonly BrowserWindow: new (options: BrowserWindowConstructorOptions) => WindowFace;
  readonly Tray: new (image: string) => TrayFace;
  readonly Menu: {
    buildFromTemplate(template: MenuItemConstructorOptions[]): MenuFace;
    setApplicationMenu(menu: MenuFace | null): void;
  };
  readonly Notification: {
    new (options: { title: string; body: string; silent?: boolean }): NotificationFace;
    isSupported(): boolean;
  };
  readonly ipcMain: IpcMainFace;
  readonly protocol: {
    registerSchemesAsPrivileged(schemes: CustomScheme[]): void;
    handle(scheme: string, handler: (request: Request) => Promise<Response>): void;
  };
  readonly shell: { openExternal(url: string): Promise<void> };
  readonly dialog: {
    showMessageBox(options: MessageBoxOptions): Promise<{ readonly response: number }>;
    showOpenDialog(options: OpenDialogOptions): Promise<{ readonly canceled: boolean; readonly filePaths: string[] }>;
    showErrorBox(title: string, text: string): void;
  };
  readonly clipboard: { writeText(text: string): void };
  readonly globalShortcut: { register(keys: string, pressed: () => void): boolean; unregister(keys: string): void };
  readonly powerMonitor: {
    on(event: 'suspend', listener: () => void): unknown;
    on(event: 'resume', listener: () => void): unknown;
    on(event: 'shutdown', listener: () => void): unknown;
  };
  readonly powerSaveBlocker: { start(type: 'prevent-app-suspension'): number; stop(id: number): boolean };
  readonly safeStorage: {
    isEncryptionAvailable(): boolean;
    getSelectedStorageBackend(): string;
    encryptString(text: string): Buffer;
    decryptString(sealed: Buffer): string;
  };
  readonly screen: { getAllDisplays(): readonly { readonly workArea: Rectangle }[] };
}
