import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What the language allows and this project does without. */
const notHere = [
  {
    selector: 'TSEnumDeclaration',
    message: 'Enums are code that only looks like a type. Use a union of string literals.',
  },
  {
    selector: 'ExportAllDeclaration',
    message: 'A barrel hides where things live. Import from the file that has it.',
  },
  {
    selector: 'ForOfStatement > VariableDeclaration > VariableDeclarator > Identifier[name="of"]',
    message: 'Node.js 22 and 24 cannot strip the types of `for (const of of [...])`. Take another name.',
  },
];
const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'A default export has a different name wherever it is imported. Name it.',
};

const nodeHttp = {
  name: 'node:http',
  allowTypeImports: true,
  message: 'It would load what nobody needs. Import it from src/http1/node-http.ts.',
};
const useTimers = 'Use Timers or Intervals of src/ports/timers.ts.';
const timers = ['setTimeout', 'setInterval'].map((name) => ({ name, message: useTimers }));
const timerModules = ['node:timers', 'node:timers/promises'].map((name) => ({ name, message: useTimers }));

/** Those that the scripts use; nothing checks types there while they are edited. */
const NODE_GLOBALS = [
  'AbortController',
  'URL',
  'clearInterval',
  'clearTimeout',
  'console',
  'performance',
  'process',
  'setInterval',
  'setTimeout',
];

export default defineConfig(
  globalIgnores(['dist/', 'src/generated/', 'data/', '.cache/', '.tap/', 'coverage/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-restricted-syntax': ['error', ...notHere, noDefaultExport],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Ports are promised to be asynchronous, also where an implementation has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts', 'console/src/**/*.{ts,tsx}'],
    ignores: ['src/cli.ts', 'src/cli/**'],
    // Logs are JSON lines made in one place.
    rules: { 'no-console': 'error' },
  },
  {
    files: ['src/**/*.ts', 'console/src/**/*.{ts,tsx}'],
    rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
  },
  {
    // Whatever reads what clients send takes time in proportion to its length.
    files: ['src/**/*.ts'],
    ignores: ['src/cli/**', 'src/client/**', 'src/config/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { paths: [nodeHttp] }],
    },
  },
  {
    // A timer that is passed in can be a test's.
    files: ['src/**/*.ts'],
    ignores: ['src/ports/timers.ts', 'src/client/**'],
    rules: {
      'no-restricted-globals': ['error', ...timers],
      '@typescript-eslint/no-restricted-imports': ['error', { paths: [nodeHttp, ...timerModules] }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // tap's `t.test` returns a promise that the parent test waits for by itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafePromises: [
            { from: 'package', package: '@tapjs/core', name: 'PromiseWithSubtest' },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: { globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])) },
  },
  {
    // The linter reads this through its default export.
    files: ['eslint.config.js'],
    rules: { 'no-restricted-syntax': ['error', ...notHere] },
  },
);
