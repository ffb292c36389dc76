// Stint is loaded from node_modules, not bundled: it has threads and files of its own.
import type { NextConfig } from 'next';

export default { serverExternalPackages: ['stint'] } satisfies NextConfig;
