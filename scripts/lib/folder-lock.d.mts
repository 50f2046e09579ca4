export function withFolderLock<T>(
  folder: string,
  onWait: (owner: number | undefined) => void,
  work: () => T | Promise<T>,
): Promise<T>;
