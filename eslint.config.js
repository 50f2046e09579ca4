import { basename } from 'node:path';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** File names are kebab-case, so that they read the same on every file system. */
const kebabCase = {
  meta: { type: 'problem', schema: [], messages: { name: 'File name "{{name}}" is not kebab-case.' } },
  create: (context) => ({
    Program(node) {
      const name = basename(context.filename);
      if (!/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/.test(name)) {
        context.report({ node, messageId: 'name', data: { name } });
      }
    },
  }),
};

const lines = { skipBlankLines: true, skipComments: true };

export default defineConfig(
  { ignores: ['build/', 'coverage/', 'node_modules/', 'assets/models/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    plugins: { dormouse: { rules: { 'kebab-case': kebabCase } } },
    rules: {
      'dormouse/kebab-case': 'error',
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, ...lines }],
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'always'],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // Takes a field for unchanged across an await and calls the check that guards it unnecessary.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Code points are what is wanted where a string is spread here.
      '@typescript-eslint/no-misused-spread': 'off',
    },
  },
  {
    // Only state's bridge knows which shell the page is in.
    files: ['src/renderer/**/*.{ts,tsx}'],
    ignores: ['src/renderer/state/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'window', property: 'dormouse', message: 'Use the bridge in state/.' },
      ],
    },
  },
  {
    // Tests may be long, build broken values on purpose and await what is already there.
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.config.{ts,js}', '.dependency-cruiser.mjs', 'test/support/build-*.ts'],
    rules: { 'no-restricted-exports': 'off' },
  },
  {
    files: ['*.config.ts'],
    languageOptions: { parser: tseslint.parser },
  },
);
