import { useEffect, useRef, useState, type FormEvent } from "react";

interface Props {
  onSubmit: (name: string, password: string) => Promise<void>;
}

export function PasswordForm({ onSubmit }: Props) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [sending, setSending] = useState(false);
  const nameBox = useRef<HTMLInputElement>(null);
  const passwordBox = useRef<HTMLInputElement>(null);

  useEffect(() => nameBox.current?.focus(), []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    setSending(true);
    await onSubmit(name.trim(), password);
    // Still here: it was refused.
    setSending(false);
    setPassword("");
    passwordBox.current?.focus();
  };

  return (
    <form className="sign-in-form" onSubmit={submit}>
      <label className="field">
        Name
        <input
          ref={nameBox}
          name="name"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        Password
        <input
          ref={passwordBox}
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </label>
      <button type="submit" className="button button-primary" disabled={sending}>
        Sign in
      </button>
    </form>
  );
}
