import { EventEmitter } from 'node:events';
import type { BrowserWindowConstructorOptions, ContextMenuParams, MenuItemConstructorOptions } from 'electron';
import type { ElectronModules } from '../../src/main/shell/index.ts';

type Bounds = { x: number; y: number; width: number; height: number };

/** An event that Electron would act on unless it is prevented. */
export class FakeEvent {
  defaultPrevented = false;
  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

class FakeSession extends EventEmitter {
  permissionRequest: ((contents: unknown, permission: string, callback: (granted: boolean) => void) => void) | null =
    null;
  permissionCheck: (() => boolean) | null = null;
  deviceCheck: (() => boolean) | null = null;
  mediaRequest: ((request: unknown, callback: (streams: object) => void) => void) | null = null;
  dictionaryUrl = '';
  setPermissionRequestHandler(handler: FakeSession['permissionRequest']): void {
    this.permissionRequest = handler;
  }
  setPermissionCheckHandler(handler: (() => boolean) | null): void {
    this.permissionCheck = handler;
  }
  setDevicePermissionHandler(handler: (() => boolean) | null): void {
    this.deviceCheck = handler;
  }
  setDisplayMediaRequestHandler(handler: FakeSession['mediaRequest']): void {
    this.mediaRequest = handler;
  }
  setSpellCheckerDictionaryDownloadURL(url: string): void {
    this.dictionaryUrl = url;
  }
}

export class FakeContents extends EventEmitter {
  readonly session = new FakeSession();
  zoomLevel = 0;
  destroyed = false;
  /** What main sent, structured-cloned as Electron would. */
  readonly sent: { readonly channel: string; readonly values: unknown[] }[] = [];
  readonly replaced: string[] = [];
  onSend: (channel: string, values: unknown[]) => void = () => undefined;
  windowOpen: (details: { readonly url: string }) => { readonly action: 'deny' } = () => ({ action: 'deny' });
  setWindowOpenHandler(handler: FakeContents['windowOpen']): void {
    this.windowOpen = handler;
  }
  send(channel: string, ...values: unknown[]): void {
    if (this.destroyed) throw new TypeError('Object has been destroyed');
    const cloned = structuredClone(values);
    this.sent.push({ channel, values: cloned });
    this.onSend(channel, cloned);
  }
  isDestroyed(): boolean {
    return this.destroyed;
  }
  replaceMisspelling(text: string): void {
    this.replaced.push(text);
  }
}

/** A window as far as Electron's own rules go: a prevented close leaves it, hiding and showing are told. */
export class FakeWindow extends EventEmitter {
  readonly webContents = new FakeContents();
  readonly options: BrowserWindowConstructorOptions;
  readonly loaded: string[] = [];
  bounds: Bounds;
  visible = false;
  minimised = false;
  maximised = false;
  destroyed = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.bounds = { x, y, width, height };
  }
  async loadURL(url: string): Promise<void> {
    this.loaded.push(url);
  }
  show(): void {
    this.visible = true;
    this.emit('show');
  }
  hide(): void {
    this.visible = false;
    this.emit('hide');
  }
  focus(): void {}
  minimize(): void {
    this.visible = true;
    this.minimised = true;
    this.emit('minimize');
  }
  restore(): void {
    this.minimised = false;
    this.emit('restore');
  }
  maximize(): void {
    this.maximised = true;
  }
  isVisible(): boolean {
    return this.visible;
  }
  isMinimized(): boolean {
    return this.minimised;
  }
  isMaximized(): boolean {
    return this.maximised;
  }
  isDestroyed(): boolean {
    return this.destroyed;
  }
  getNormalBounds(): Bounds {
    return this.bounds;
  }
  destroy(): void {
    this.destroyed = true;
    this.webContents.destroyed = true;
    this.emit('closed');
  }
  /** What a click on the close button does. */
  close(): void {
    const event = new FakeEvent();
    this.emit('close', event);
    if (!event.defaultPrevented) this.destroy();
  }
  rightClick(params: Partial<ContextMenuParams>): void {
    this.webContents.emit('context-menu', {}, params);
  }
}

class FakeTray extends EventEmitter {
  image: string;
  toolTip = '';
  menu: FakeMenu | null = null;
  destroyed = false;
  drawn = 0;
  constructor(image: string) {
    super();
    this.image = image;
  }
  setImage(image: string): void {
    this.image = image;
  }
  setToolTip(text: string): void {
    this.toolTip = text;
  }
  setContextMenu(menu: FakeMenu | null): void {
    this.menu = menu;
    this.drawn += 1;
  }
  destroy(): void {
    this.destroyed = true;
  }
  get labels(): readonly string[] {
    return (this.menu?.template ?? []).map(({ label, type }) => label ?? type ?? '');
  }
  choose(label: string): void {
    this.menu?.choose(label);
  }
}

export class FakeMenu {
  readonly template: MenuItemConstructorOptions[];
  popped = false;
  constructor(template: MenuItemConstructorOptions[]) {
    this.template = template;
  }
  popup(): void {
    this.popped = true;
  }
  /** Clicks the entry of that label, at any depth. */
  choose(label: string): void {
    const find = (items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions | undefined => {
      for (const item of items) {
        if (item.label === label && item.click !== undefined) return item;
        const inside = Array.isArray(item.submenu) ? find(item.submenu) : undefined;
        if (inside !== undefined) return inside;
      }
      return undefined;
    };
    const click = find(this.template)?.click as (() => void) | undefined;
    if (click === undefined) throw new Error(`no entry "${label}" to click`);
    click();
  }
}

class FakeApp extends EventEmitter {
  readonly isPackaged = false;
  readonly switches: [string, string | undefined][] = [];
  readonly commandLine = { appendSwitch: (name: string, value?: string) => void this.switches.push([name, value]) };
  readonly log: string[] = [];
  readonly paths: Record<string, string> = {};
  /** Whether this process gets the lock; the data it gave. */
  isFirst = true;
  lockData: Record<string, unknown> | undefined;
  ready = false;
  exitCode: number | null = null;
  login: unknown = null;
  about: unknown = null;
  windows: () => readonly FakeWindow[] = () => [];
  setPath(name: string, path: string): void {
    this.paths[name] = path;
  }
  setName(): void {}
  setAppUserModelId(): void {}
  requestSingleInstanceLock(data?: Record<string, unknown>): boolean {
    this.lockData = structuredClone(data);
    return this.isFirst;
  }
  enableSandbox(): void {
    this.log.push(this.ready ? 'sandbox too late' : 'sandbox');
  }
  disableHardwareAcceleration(): void {
    this.log.push(this.ready ? 'no gpu too late' : 'no gpu');
  }
  async whenReady(): Promise<void> {
    this.ready = true;
  }
  /** Electron's order: before-quit, each window's close, window-all-closed is not told, will-quit, exit. */
  quit(): void {
    const before = new FakeEvent();
    this.emit('before-quit', before);
    if (before.defaultPrevented) return;
    for (const window of this.windows()) {
      if (!window.destroyed) window.close();
      if (!window.destroyed) return;
    }
    const will = new FakeEvent();
    this.emit('will-quit', will);
    if (!will.defaultPrevented) this.exit(0);
  }
  exit(code = 0): void {
    this.exitCode ??= code;
  }
  setAboutPanelOptions(options: unknown): void {
    this.about = options;
  }
  showAboutPanel(): void {
    this.log.push('about');
  }
  setLoginItemSettings(settings: unknown): void {
    this.login = settings;
  }
}

class FakeNotification extends EventEmitter {
  readonly options: { title: string; body: string };
  constructor(options: { title: string; body: string; silent?: boolean }) {
    super();
    this.options = options;
  }
  static isSupported(): boolean {
    return true;
  }
  show(): void {}
}

type IpcListener = (
  event: { readonly senderFrame: { readonly url: string; readonly parent: unknown } | null },
  ...values: unknown[]
) => Promise<unknown>;

/** The modules of Electron that Dormouse uses, as far as its logic can tell; `satisfies` holds it to the same faces as the real ones. */
export class FakeElectron {
  readonly windows: FakeWindow[] = [];
  readonly trays: FakeTray[] = [];
  readonly notifications: FakeNotification[] = [];
  readonly handlers = new Map<string, IpcListener>();
  readonly schemes = new Map<string, unknown>();
  readonly protocols = new Map<string, (request: Request) => Promise<Response>>();
  readonly opened: string[] = [];
  readonly boxes: { readonly title: string; readonly text: string }[] = [];
  readonly questions: { readonly message: string; readonly answer: (button: number) => void }[] = [];
  readonly shortcuts = new Map<string, () => void>();
  readonly blockers = new Set<number>();
  readonly app = new FakeApp();
  readonly powerMonitor = new EventEmitter();
  displays: { readonly workArea: Bounds }[] = [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }];
  clipboardText = '';
  /** Whether the system has a key store. */
  keyring = false;
  chosenFiles: string[] = [];
  appMenu: FakeMenu | null = null;
  lastMenu: FakeMenu | null = null;
  shortcutsFree = true;

  constructor() {
    this.app.windows = () => this.windows;
  }

  get window(): FakeWindow {
    const window = this.windows.at(-1);
    if (window === undefined) throw new Error('no window yet');
    return window;
  }

  get tray(): FakeTray {
    const tray = this.trays.at(-1);
    if (tray === undefined) throw new Error('no tray');
    return tray;
  }

  /** What `ipcRenderer.invoke` of a frame gives, both ways structured-cloned. */
  async invoke(channel: string, values: unknown[], frame: { url: string; parent: unknown } | null = ownFrame) {
    const handler = this.handlers.get(channel);
    if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
    return structuredClone(await handler({ senderFrame: frame }, ...structuredClone(values)));
  }

  readonly modules = this.#makeModules();

  #makeModules() {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the classes below have a `this` of their own
    const fake = this;
    const modules = {
      app: this.app,
      BrowserWindow: class extends FakeWindow {
        constructor(options: BrowserWindowConstructorOptions) {
          super(options);
          fake.windows.push(this);
          fake.app.emit('web-contents-created', {}, this.webContents);
        }
      },
      Tray: class extends FakeTray {
        constructor(image: string) {
          super(image);
          fake.trays.push(this);
        }
      },
      Menu: {
        buildFromTemplate: (template: MenuItemConstructorOptions[]) => (fake.lastMenu = new FakeMenu(template)),
        setApplicationMenu: (menu: FakeMenu | null) => void (fake.appMenu = menu),
      },
      Notification: class extends FakeNotification {
        constructor(options: { title: string; body: string; silent?: boolean }) {
          super(options);
          fake.notifications.push(this);
        }
      },
      ipcMain: {
        handle: (channel: string, listener: IpcListener) => void fake.handlers.set(channel, listener),
        removeHandler: (channel: string) => void fake.handlers.delete(channel),
      },
      protocol: {
        registerSchemesAsPrivileged: (schemes: { scheme: string; privileges?: unknown }[]) => {
          if (fake.app.ready)
            throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
          for (const { scheme, privileges } of schemes) fake.schemes.set(scheme, privileges);
        },
        handle: (scheme: string, handler: (request: Request) => Promise<Response>) => {
          if (!fake.app.ready) throw new Error('protocol.handle needs a ready app');
          fake.protocols.set(scheme, handler);
        },
      },
      shell: { openExternal: async (url: string) => void fake.opened.push(url) },
      dialog: {
        showMessageBox: ({ message }: { message: string }) =>
          new Promise<{ response: number }>((resolve) =>
            fake.questions.push({ message, answer: (response) => resolve({ response }) }),
          ),
        showOpenDialog: async () => ({ canceled: fake.chosenFiles.length === 0, filePaths: fake.chosenFiles }),
        showErrorBox: (title: string, text: string) => void fake.boxes.push({ title, text }),
      },
      safeStorage: {
        isEncryptionAvailable: () => fake.keyring,
        getSelectedStorageBackend: () => (fake.keyring ? 'gnome_libsecret' : 'basic_text'),
        encryptString: (text: string) => Buffer.from([...text].reverse().join('')),
        decryptString: (sealed: Buffer) => [...sealed.toString()].reverse().join(''),
      },
      clipboard: { writeText: (text: string) => void (fake.clipboardText = text) },
      globalShortcut: {
        register: (keys: string, pressed: () => void) => {
          if (fake.shortcutsFree) fake.shortcuts.set(keys, pressed);
          return fake.shortcutsFree;
        },
        unregister: (keys: string) => void fake.shortcuts.delete(keys),
      },
      powerMonitor: this.powerMonitor,
      powerSaveBlocker: {
        start: () => {
          const id = fake.blockers.size + 1;
          fake.blockers.add(id);
          return id;
        },
        stop: (id: number) => fake.blockers.delete(id),
      },
      screen: { getAllDisplays: () => fake.displays },
    };
    return modules satisfies ElectronModules;
  }
}

/** The main frame of our own page. */
export const ownFrame = { url: 'app://dormouse/', parent: null };
