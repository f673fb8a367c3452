import type { ReactNode } from 'react'
import { SkeletonText } from '../ui/layout.tsx'

/** The page before anything is known about who looks at it: in the place and size of what follows. */
export const ShellFrame = ({ children }: { children?: ReactNode }) => (
  <div className="shell">
    <aside className="sidebar" aria-hidden="true" />
    <div className="topbar" aria-hidden="true" />
    <main className="main" aria-busy={!children}>
      {children || (
        <div className="page-header">
          <SkeletonText width="180px" height={26} />
          <span className="visually-hidden">Loading</span>
        </div>
      )}
    </main>
  </div>
)
