// Imported first by every entry, and written so that an old Node can still read it and say what is wrong.
import process from 'node:process';

const parts = process.versions.node.split('.').map(Number);
const fits = (parts[0] === 20 && parts[1] >= 19) || (parts[0] === 22 && parts[1] >= 12) || parts[0] > 22;
if (!fits) {
  console.error(
    'Dormouse needs Node.js 20.19 or newer (in the 22 line: 22.12 or newer). ' +
      'This is Node.js ' +
      process.versions.node +
      ' at ' +
      process.execPath +
      '.\n' +
      'Install a current one, for example with your package manager or nvm, then run the command again.',
  );
  process.exit(1);
}
