type Dependencies = {
  /** Only the preload script can learn where a dropped file lies. */
  readonly pathOf: (file: File) => string;
  readonly load: (path: string) => void;
};

/** A GGUF file that is dropped on the page is loaded; other files do nothing, and text goes where it was dropped. */
export function openDroppedModels(target: Pick<Document, 'addEventListener'>, { pathOf, load }: Dependencies): void {
  target.addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  target.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    const model = [...(event.dataTransfer?.files ?? [])].find(({ name }) => /\.gguf$/i.test(name));
    if (model !== undefined) load(pathOf(model));
  });
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer !== null && [...dataTransfer.types].includes('Files');
}
