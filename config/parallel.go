package config

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls work(0) to work(n-1) on all processors, grain numbers at a time, and returns when all are done.
func parallel(n, grain int, work func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+grain-1)/grain)
	if workers <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				end := int(next.Add(int64(grain)))
				if end-grain >= n {
					return
				}
				for i := end - grain; i < min(end, n); i++ {
					work(i)
				}
			}
		})
	}
	wg.Wait()
}
