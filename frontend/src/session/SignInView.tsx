import { useEffect, useState } from "react";

import { problemOf } from "../http";
import { ProblemNote } from "../shared/ProblemNote";
import type { Problem } from "../types";
import { PasswordForm } from "./PasswordForm";
import { singleSignOnUrl, signInMethods } from "./sessionApi";
import { forgetSignInProblem, signInProblem } from "./signInProblem";
import type { SignInMethods } from "./types";

interface Props {
  /** Whether somebody was signed in here until just now. */
  again: boolean;
  onSignIn: (name: string, password: string) => Promise<void>;
}

export function SignInView({ again, onSignIn }: Props) {
  const [methods, setMethods] = useState<SignInMethods | null>(null);
  const [problem, setProblem] = useState<Pick<Problem, "detail" | "hint"> | null>(signInProblem);
  const [round, setRound] = useState(0);

  useEffect(forgetSignInProblem, []);

  useEffect(() => {
    signInMethods().then(setMethods, (error: unknown) => setProblem(problemOf(error)));
  }, [round]);

  const signIn = async (name: string, password: string) => {
    setProblem(null);
    try {
      await onSignIn(name, password);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };

  const loadAgain = () => {
    setProblem(null);
    setRound((now) => now + 1);
  };

  return (
    <section className="sign-in card" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in</h1>
      {again && problem === null && (
        <p className="note" role="status">
          You are no longer signed in. What you have typed is kept.
        </p>
      )}
      {problem !== null && (
        <ProblemNote problem={problem}>
          {methods === null && (
            <button type="button" className="button" onClick={loadAgain}>
              Try again
            </button>
          )}
        </ProblemNote>
      )}
      {methods?.password && <PasswordForm onSubmit={signIn} />}
      {methods?.oidc && (
        <a className="button button-link" href={singleSignOnUrl()}>
          {methods.oidc_name}
        </a>
      )}
    </section>
  );
}
