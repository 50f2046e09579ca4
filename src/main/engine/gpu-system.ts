import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What can be known of graphics cards without loading a driver. Lists are empty where a system does not tell. */
export type GpuSystem = {
  readonly platform: NodeJS.Platform;
  /** Whether there may be any graphics card at all; false only where that is sure. */
  readonly anyCard: boolean;
  readonly nvidiaCard: boolean;
  /** As NVIDIA's kernel module tells, such as `580.65.06`; null without the module. */
  readonly nvidiaDriver: string | null;
  /** File names of CUDA's runtime that were looked for and are missing. */
  readonly missingCudaFiles: readonly string[];
  readonly vulkanLoader: boolean;
  /** Device files that this user may not open. */
  readonly forbidden: readonly string[];
};

/** CUDA's runtime that the prebuilt llama.cpp is linked with. */
const cudaFiles = ['libcudart.so.13', 'libcublas.so.13', 'libcublasLt.so.13'];
const nvidiaVendor = '0x10de';

/**
 * Looks at device files, kernel modules and libraries. On other systems than Linux little can be told this way.
 * @param root what stands for `/`; tests give a folder.
 */
export function readGpuSystem(
  platform: NodeJS.Platform = process.platform,
  root = '/',
  environment: NodeJS.ProcessEnv = process.env,
): GpuSystem {
  if (platform !== 'linux') {
    const windows = join(environment['SystemRoot'] ?? 'C:\\Windows', 'System32');
    const has = (file: string) => existsSync(join(windows, file));
    const nvidiaCard = platform === 'win32' && has('nvcuda.dll');
    const vulkanLoader = platform === 'win32' && has('vulkan-1.dll');
    return {
      platform,
      anyCard: true,
      nvidiaCard,
      nvidiaDriver: null,
      missingCudaFiles: [],
      vulkanLoader,
      forbidden: [],
    };
  }
  const folders = libraryFolders(root, environment);
  const found = (file: string) => folders.some((folder) => existsSync(join(folder, file)));
  const files = deviceFiles(root);
  const nvidiaCard = files.some((file) => /nvidia\d+$/.test(file)) || vendors(root).includes(nvidiaVendor);
  return {
    platform,
    // Whoever names a device wants it, a software renderer for instance.
    anyCard: files.length > 0 || nvidiaCard || environment['GGML_VK_VISIBLE_DEVICES'] !== undefined,
    nvidiaCard,
    nvidiaDriver: firstLine(join(root, 'sys/module/nvidia/version')),
    missingCudaFiles: cudaFiles.filter((file) => !found(file)),
    vulkanLoader: found('libvulkan.so.1'),
    forbidden: files.filter((file) => !mayOpen(join(root, file))).map((file) => `/${file}`),
  };
}

function libraryFolders(root: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const usual = [
    'usr/lib/x86_64-linux-gnu',
    'usr/lib/aarch64-linux-gnu',
    'usr/lib64',
    'usr/lib',
    'usr/local/lib',
    'usr/lib/wsl/lib',
    'opt/cuda/lib64',
    'opt/cuda/targets/x86_64-linux/lib',
  ];
  const cuda = list(join(root, 'usr/local'))
    .filter((name) => name.startsWith('cuda'))
    .flatMap((name) => [`usr/local/${name}/lib64`, `usr/local/${name}/targets/x86_64-linux/lib`]);
  const configured = list(join(root, 'etc/ld.so.conf.d')).flatMap((name) =>
    read(join(root, 'etc/ld.so.conf.d', name))
      .split('\n')
      .filter((line) => line.startsWith('/')),
  );
  const own = (environment['LD_LIBRARY_PATH'] ?? '').split(':').filter((folder) => folder !== '');
  return [...own, ...[...usual, ...cuda, ...configured].map((folder) => join(root, folder))];
}

/** Files through which programs reach graphics cards, without the leading slash. `dxg` is the one of WSL. */
function deviceFiles(root: string): readonly string[] {
  return [
    ...list(join(root, 'dev/dri'))
      .filter((name) => name.startsWith('renderD'))
      .map((name) => `dev/dri/${name}`),
    ...list(join(root, 'dev'))
      .filter((name) => /^(nvidia\d+|nvidiactl|dxg)$/.test(name))
      .map((name) => `dev/${name}`),
  ];
}

function vendors(root: string): readonly (string | null)[] {
  const drm = join(root, 'sys/class/drm');
  return list(drm).map((name) => firstLine(join(drm, name, 'device/vendor')));
}

function mayOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function firstLine(path: string): string | null {
  return read(path).split('\n')[0]?.trim() || null;
}
