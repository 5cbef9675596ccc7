package local

import (
	"errors"
	"fmt"
)

// Release is what a commit gives: programs, and the definition that goes with them.
type Release struct {
	Binaries   string // folder, as Config.Binaries
	Definition func(arns map[string]string) ([]byte, error)
}

// Deploy puts a release in place while work goes on, as `cdk deploy` does: runs in
// flight keep their definition and their versions of the functions, new ones begin
// with the new; what has no version (the API, settle, notify, reconcile) is the new
// program at once. The pose workers stay as they are. To roll back, move the alias.
func (c *Cloud) Deploy(r Release) error {
	if c.cfg.Versions == "" && c.cfg.Dir == "" {
		return errors.New("deploy: the cloud keeps no versions of programs; Config.Versions says where")
	}
	next := c.cfg
	next.Binaries, next.Definition = r.Binaries, r.Definition
	if err := next.checkBinaries(); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	c.cfg.Binaries, c.cfg.Definition = next.Binaries, next.Definition
	c.lambda.Deploy(next.binary)
	if err := c.release(); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return nil
}
