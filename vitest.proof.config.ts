// The tests that take minutes and belong to the proof: npm run prove runs them, part by part.
import { mergeConfig } from 'vitest/config';
import base from './test/support/config.ts';

const merged = mergeConfig(base, {});
merged.test!.include = ['test/**/*.proof.ts'];

export default merged;
