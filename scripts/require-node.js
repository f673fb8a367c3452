// Runs before the commands that need Node 24, on whatever Node is there: this file must run on old versions.
// npm puts node_modules/.bin first in the PATH, and the package "node" a Node 24 into it, whatever the host has.
const needed = 24
const version = process.versions.node

if (Number(version.split('.')[0]) < needed) {
  console.error(
    `This needs Node ${needed}, and "node" is ${version} here: run "npm ci" (with install scripts allowed, it brings Node ${needed} along), or install Node ${needed}.`,
  )
  process.exit(1)
}
