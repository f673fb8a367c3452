import type { ReactNode } from 'react'
import { SkeletonText } from '../ui/layout.tsx'

/** The page while the session loads, in the size of what follows. */
export const ShellFrame = ({ children }: { children?: ReactNode }) => (
  <div className="shell">
    <aside className="sidebar" aria-hidden="true" />
    <div className="topbar" aria-hidden="true" />
    <main className="main" aria-busy={!children}>
      {children || (
        <div className="page-header">
          <SkeletonText width="180px" height={26} />
          <h1 className="visually-hidden">Loading</h1>
        </div>
      )}
    </main>
  </div>
)
