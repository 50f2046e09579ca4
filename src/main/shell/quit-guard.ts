import type { ElectronModules, Preventable } from './electron-faces.ts';
import { en } from './en.ts';

export type QuitGuardDependencies = {
  readonly electron: Pick<ElectronModules, 'app' | 'dialog' | 'powerMonitor'>;
  readonly isAnswering: () => boolean;
  /** Ends everything that runs. */
  readonly close: () => Promise<void>;
};

/** Longest time that ending may take before the process ends anyway, in ms. */
const closeLimit = 10_000;

/**
 * Quit ends everything, and asks only while an answer is being written. Order of Electron: `before-quit`, then the
 * windows close, then `will-quit`; a quit that is prevented in between leaves everything as it was.
 */
export class QuitGuard {
  readonly #deps: QuitGuardDependencies;
  #agreed = false;
  #asking = false;
  #closing = false;

  constructor(deps: QuitGuardDependencies) {
    this.#deps = deps;
    const { app, powerMonitor } = deps.electron;
    app.on('before-quit', (event) => this.#beforeQuit(event));
    app.on('will-quit', (event) => this.#willQuit(event));
    // A computer that shuts down waits for nobody's answer.
    powerMonitor.on('shutdown', () => this.quitNow());
  }

  /** Whether windows may close for good. */
  get isQuitting(): boolean {
    return this.#agreed;
  }

  quitNow(): void {
    this.#agreed = true;
    this.#deps.electron.app.quit();
  }

  #beforeQuit(event: Preventable): void {
    if (this.#agreed) return;
    if (!this.#deps.isAnswering()) {
      this.#agreed = true;
      return;
    }
    event.preventDefault();
    if (!this.#asking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const { question, detail, quit, stay } = en.quit;
    const { response } = await this.#deps.electron.dialog.showMessageBox({
      type: 'question',
      message: question,
      detail,
      buttons: [quit, stay],
      defaultId: 1,
      cancelId: 1,
    });
    this.#asking = false;
    if (response === 0) this.quitNow();
  }

  /** Holds the end of the process until everything is on disk. */
  #willQuit(event: Preventable): void {
    event.preventDefault();
    if (this.#closing) return;
    this.#closing = true;
    const { app } = this.#deps.electron;
    const timer = setTimeout(() => app.exit(1), closeLimit);
    void this.#deps.close().then(
      () => {
        clearTimeout(timer);
        app.exit(0);
      },
      () => app.exit(1),
    );
  }
}
