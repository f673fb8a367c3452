// Temporary until bundled
await import('../src/server.ts')
