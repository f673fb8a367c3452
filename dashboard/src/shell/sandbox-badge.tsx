import { isMoneySimulated } from '../lib/sandbox.ts'

/** On every page where no real money moves. */
export const SandboxBadge = () =>
  isMoneySimulated() ? (
    <span className="sandbox-badge" title="Payments are simulated. No real money moves.">
      Sandbox
    </span>
  ) : null
