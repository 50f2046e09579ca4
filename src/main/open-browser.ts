import open from 'open';

/**
 * Opens a link in the default browser where a person can see one.
 * @returns false where there is none: over SSH, or on Linux without a display.
 */
export async function openBrowser(link: string, environment: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = environment;
  if (SSH_CONNECTION !== undefined) return false;
  if (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY && !WSL_DISTRO_NAME) return false;
  try {
    const child = await open(link);
    return await new Promise((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0 || code === null));
      // A browser that stays in the foreground has opened.
      setTimeout(() => resolve(true), 2000).unref();
    });
  } catch {
    return false;
  }
}
