import { playsMoney } from '../lib/sandbox.ts'

/** On every page where no real money moves. */
export const SandboxBadge = () =>
  playsMoney() ? (
    <span className="sandbox-badge" title="Payments are simulated. No real money moves.">
      Sandbox
    </span>
  ) : null
